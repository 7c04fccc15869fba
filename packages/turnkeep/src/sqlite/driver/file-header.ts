import { closeSync, existsSync, openSync, readSync } from 'node:fs';

/** What the first bytes of a database file say. */
export interface FileHeader {
  readonly isSqlite: boolean;
  readonly applicationId: number;
  readonly userVersion: number;
  /** True where the file has a table. */
  readonly hasSchema: boolean;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 108;
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
// The page of the schema follows the header: its kind, and two bytes further the number of its cells.
const SCHEMA_KIND_AT = 100;
const SCHEMA_CELLS_AT = 103;
const LEAF = 0x0d;

/**
 * Reads the header without SQLite, which would leave a WAL beside a file that is only looked at. Answers nothing where
 * there are side files: then somebody has the file open, perhaps in this process, and to close a descriptor of it would
 * drop the locks that this process holds; and the WAL may say something else.
 */
export function peekHeader(path: string): FileHeader | undefined {
  if (['-wal', '-shm', '-journal'].some((suffix) => existsSync(path + suffix))) return undefined;
  const bytes = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, bytes, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(descriptor);
  }
  return {
    isSqlite: bytes.toString('latin1', 0, MAGIC.length) === MAGIC,
    applicationId: bytes.readInt32BE(APPLICATION_ID_AT),
    userVersion: bytes.readInt32BE(USER_VERSION_AT),
    hasSchema: bytes[SCHEMA_KIND_AT] !== LEAF || bytes.readUInt16BE(SCHEMA_CELLS_AT) > 0,
  };
}
