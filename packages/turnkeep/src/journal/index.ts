/** The journal backend: a directory of readable lines. docs/formats/journal.md describes its files. */
export { JournalBackend } from './journal-backend.ts';
export { openJournal } from './open.ts';
export type { JournalOptions } from './open.ts';
export type { JournalSettings } from './settings.ts';
export type { FileSystem, JournalFile, OpenMode } from './files/file-system.ts';
export type { Owner, Processes } from '../platform/processes.ts';
