// SQLite's result codes by number: the low byte is the primary code, the next one refines it.

const PRIMARY = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL ' +
  'EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB NOTICE WARNING'
).split(' ');

const EXTENDED: Readonly<Record<string, readonly string[]>> = {
  ERROR: words('MISSING_COLLSEQ RETRY SNAPSHOT RESERVESIZE KEY UNABLE'),
  ABORT: words('- ROLLBACK'),
  BUSY: words('RECOVERY SNAPSHOT TIMEOUT'),
  LOCKED: words('SHAREDCACHE VTAB'),
  READONLY: words('RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY'),
  IOERR: words(
    'READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS ' +
      'CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH ' +
      'CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE BADKEY CODEC',
  ),
  CORRUPT: words('VTAB SEQUENCE INDEX'),
  CANTOPEN: words('NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK'),
  CONSTRAINT: words(
    'CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE',
  ),
};

/** The name of an extended result code; one that is not known here keeps its number behind its primary name. */
export function errorName(extended: number): string {
  const primary = PRIMARY[extended & 0xff];
  if (primary === undefined) return `SQLITE_${extended}`;
  const detail = extended >> 8;
  if (detail === 0) return `SQLITE_${primary}`;
  return `SQLITE_${primary}_${EXTENDED[primary]?.[detail - 1] ?? detail}`;
}

function words(text: string): readonly string[] {
  return text.split(' ');
}
