/** The version of the package, as `package.json` has it. */
export const VERSION: string = '0.1.0';
