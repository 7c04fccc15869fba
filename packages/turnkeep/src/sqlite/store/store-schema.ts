/** Says that a SQLite file is a store of ours: "TkSt". */
export const APPLICATION_ID = 0x546b5374;

/**
 * The rows of the last commits stand in the tail, one row a commit, and go to their places together: when a conversation
 * has this many there, or when they are the oldest of a long tail. So a commit writes to the ends of a few tables and not
 * to a page for each kind of key (3 pages less for each turn), and its cost does not grow with the conversation.
 */
export const TAIL_COMMITS = 32;

/** Commits in the tail, those included whose rows have gone to their places. */
export const TAIL_LENGTH = 4_096;

/** Records of one commit stand below this; `pos * RECORDS + index` names a record of the store. */
export const RECORDS = 262_144;

/** Parts of one blob stand below this; `b * BLOB_PARTS + index` names a part of the store. */
export const BLOB_PARTS = 65_536;

/**
 * The steps from an empty file to the newest schema; `user_version` counts those that were taken. A step that was
 * released is never changed, and there is none backwards.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE store (id TEXT NOT NULL);
  CREATE TABLE namespaces (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

  -- One row a conversation. "folded" is the version up to which its rows stand in "rows" and "places", and "unfolded" the
  -- positions of the versions after it, as JSON; "folds" counts how often the rows in their places changed.
  CREATE TABLE heads (
    c INTEGER PRIMARY KEY, n INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, folded INTEGER NOT NULL,
    folds INTEGER NOT NULL, unfolded TEXT NOT NULL, activity INTEGER NOT NULL, created INTEGER NOT NULL, owner TEXT, uncollected INTEGER NOT NULL, head TEXT NOT NULL
  );
  CREATE UNIQUE INDEX heads_id ON heads (n, id);
  CREATE INDEX heads_activity ON heads (n, activity DESC, id);
  CREATE INDEX heads_created ON heads (n, created DESC, id);
  CREATE INDEX heads_owner_activity ON heads (n, owner, activity DESC, id) WHERE owner IS NOT NULL;
  CREATE INDEX heads_owner_created ON heads (n, owner, created DESC, id) WHERE owner IS NOT NULL;
  CREATE INDEX heads_uncollected ON heads (n, id) WHERE uncollected = 1;

  -- The log: one row a commit, in the order in which they became durable. Short words stand in it, longer ones in
  -- "bodies", so that pages of both fill up.
  CREATE TABLE log (
    pos INTEGER PRIMARY KEY, n INTEGER NOT NULL, c INTEGER NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL,
    header TEXT, seals BLOB NOT NULL, words TEXT NOT NULL, redactions TEXT
  );
  CREATE INDEX log_namespace ON log (n);
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL);

  -- The rows of the last commits, in the order of the log; then the rows that went to their places.
  CREATE TABLE tail (pos INTEGER PRIMARY KEY, c INTEGER NOT NULL, version INTEGER NOT NULL, rows TEXT NOT NULL);
  CREATE TABLE rows (c INTEGER NOT NULL, k TEXT NOT NULL, v TEXT NOT NULL, PRIMARY KEY (c, k)) WITHOUT ROWID;
  CREATE TABLE places (c INTEGER NOT NULL, version INTEGER NOT NULL, pos INTEGER NOT NULL, PRIMARY KEY (c, version))
    WITHOUT ROWID;

  -- Records whose words went, and which the search index may still hold.
  CREATE TABLE stale (record INTEGER PRIMARY KEY);
  `,
  `
  -- Commits that have cooled: successive versions of one conversation, compressed. The log row of each has the block's
  -- number in place of its seals, and nothing else but its place. "cooling" has the position up to which all is done.
  CREATE TABLE blocks (
    b INTEGER PRIMARY KEY, c INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, bytes BLOB NOT NULL
  );
  CREATE UNIQUE INDEX blocks_last ON blocks (c, last);
  CREATE TABLE cooling (position INTEGER NOT NULL);
  INSERT INTO cooling VALUES (0);
  `,
  `
  -- The bytes of attachments, in parts of 256 KiB. A blob is named by the digest of its bytes, and by '+' and its upload
  -- as long as they are not all there; '-' and its number where it was given up, and its parts are to go.
  CREATE TABLE blobs (b INTEGER PRIMARY KEY, ns TEXT NOT NULL, name TEXT NOT NULL, touched INTEGER NOT NULL);
  CREATE UNIQUE INDEX blobs_name ON blobs (ns, name);
  CREATE TABLE parts (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  `,
];
