// The entry of the package: it will re-export what a user of the library needs, and nothing else.

export {};
