/**
 * The steps from an empty schema to the newest; the table `store` counts those that were taken. A step that was released
 * is never changed, and there is none backwards. `$schema` stands for the schema's name, quoted.
 *
 * Every key begins with the namespace. `c` stands for a conversation within its namespace: 8 bytes in each row instead of
 * an id of up to 512, drawn by the writer that creates it, so that no sequence is shared.
 */
export const MIGRATIONS: readonly string[] = [
  `
  -- One row a conversation, updated in place by each of its commits: no index holds a column that a commit changes, so
  -- that Postgres can do it without touching one (a heap-only tuple), and a page has room for the next version.
  CREATE TABLE $schema.heads (
    ns text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    version bigint NOT NULL,
    -- Of its last commit: above that of every commit that it follows, in its conversation and in those that it was forked
    -- from, and otherwise the server's clock.
    rank bigint NOT NULL,
    created bigint NOT NULL,
    owner text COLLATE "C",
    uncollected boolean NOT NULL,
    -- Where the active leaf and the busy turns stand: what the next commit will ask for.
    places text NOT NULL,
    -- Empty only within the transaction that creates the conversation.
    head text NOT NULL,
    PRIMARY KEY (ns, id),
    UNIQUE (ns, c)
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
  CREATE INDEX heads_created ON $schema.heads (ns, created DESC, id);
  CREATE INDEX heads_owner_created ON $schema.heads (ns, owner, created DESC, id) WHERE owner IS NOT NULL;
  CREATE INDEX heads_uncollected ON $schema.heads (ns, id) WHERE uncollected;

  -- What listings by activity are sorted by: it changes with each commit, and its indexes with it.
  CREATE TABLE $schema.recency (
    ns text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    activity bigint NOT NULL,
    owner text COLLATE "C",
    PRIMARY KEY (ns, id)
  ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
  CREATE INDEX recency_activity ON $schema.recency (ns, activity DESC, id);
  CREATE INDEX recency_owner_activity ON $schema.recency (ns, owner, activity DESC, id) WHERE owner IS NOT NULL;

  CREATE TABLE $schema.rows (
    ns text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    k text COLLATE "C" NOT NULL,
    v text NOT NULL,
    PRIMARY KEY (ns, c, k)
  );

  -- One row a commit. Words are one body a line, empty where they are gone.
  CREATE TABLE $schema.log (
    ns text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    version bigint NOT NULL,
    at bigint NOT NULL,
    header text,
    seals text NOT NULL,
    words text NOT NULL,
    redactions text,
    PRIMARY KEY (ns, c, version)
  );

  -- Commits that have no place in the feed yet, written with them. A place is given once they are seen, after the fact:
  -- numbers drawn inside a transaction would show up in another order than that in which they are seen.
  CREATE TABLE $schema.outbox (
    ns text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    version bigint NOT NULL,
    rank bigint NOT NULL,
    PRIMARY KEY (ns, rank, c, version)
  ) WITH (autovacuum_vacuum_scale_factor = 0.05);
  CREATE TABLE $schema.feed (
    ns text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    c bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (ns, position)
  );
  CREATE INDEX feed_commit ON $schema.feed (ns, c, version);
  -- The last position of a namespace, and the one up to which its words are in the search index.
  CREATE TABLE $schema.feed_ends (
    ns text COLLATE "C" NOT NULL,
    last bigint NOT NULL,
    indexed bigint NOT NULL,
    PRIMARY KEY (ns)
  );

  -- Folded words, for search: derived from the log, after the fact.
  CREATE TABLE $schema.folded (
    ns text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    c bigint NOT NULL,
    version bigint NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (ns, position)
  );
  CREATE INDEX folded_commit ON $schema.folded (ns, c, version);
  `,
  `
  -- What matters only while somebody works, beats and drafts: no commit waits for it, and a crash may empty it.
  CREATE UNLOGGED TABLE $schema.scratch (
    ns text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    k text COLLATE "C" NOT NULL,
    v text NOT NULL,
    PRIMARY KEY (ns, id, k)
  );
  `,
  `
  -- Commits that have cooled: successive versions of one conversation, compressed. The log row of each has the first version
  -- of its block and nothing else but its place. A block is dirty while it holds words that went.
  CREATE TABLE $schema.blocks (
    ns text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    dirty boolean NOT NULL DEFAULT false,
    bytes bytea NOT NULL,
    PRIMARY KEY (ns, c, first)
  );
  ALTER TABLE $schema.blocks ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE INDEX blocks_dirty ON $schema.blocks (ns, c, first) WHERE dirty;
  ALTER TABLE $schema.log ADD COLUMN block bigint;
  `,
  `
  -- The bytes of attachments, in parts of 256 KiB. A blob is named by the digest of its bytes, and by '+' and its upload as
  -- long as they are not all there; '-' and its number where it was given up, and its parts are to go.
  CREATE TABLE $schema.blobs (
    ns text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    upload text COLLATE "C" NOT NULL,
    b bigint NOT NULL,
    touched bigint NOT NULL,
    PRIMARY KEY (ns, name),
    UNIQUE (ns, b),
    UNIQUE (ns, upload)
  );
  CREATE TABLE $schema.parts (
    ns text COLLATE "C" NOT NULL,
    b bigint NOT NULL,
    i integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (ns, b, i)
  );
  -- Most files are compressed: to try again would cost time and gain nothing.
  ALTER TABLE $schema.parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
  `,
  `
  -- What commits added to sums of their namespace (\`k\` is a key of the shelf of usage), until somebody folds it into them.
  CREATE TABLE $schema.additions (
    ns text COLLATE "C" NOT NULL,
    k text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    version bigint NOT NULL,
    v text NOT NULL,
    PRIMARY KEY (ns, k, c, version)
  ) WITH (autovacuum_vacuum_scale_factor = 0.05);
  `,
  `
  -- No words stand for a commit that could not be read when it came into the index: every search looks at it.
  CREATE INDEX folded_unreadable ON $schema.folded (ns, position) WHERE words = '';
  `,
  `
  -- The version of the commit that wrote a row last, or of a later one of the same transaction; 0 where that was not noted,
  -- and where it was no commit of the row's own conversation. Who does not know of it cannot write: what he does not see may be packed.
  ALTER TABLE $schema.rows ADD COLUMN version bigint NOT NULL DEFAULT 0;
  ALTER TABLE $schema.rows ALTER COLUMN version DROP DEFAULT;
  -- The letters of the tables of which rows of the conversation are packed.
  ALTER TABLE $schema.heads ADD COLUMN packs text NOT NULL DEFAULT '';
  -- Rows of commits that have cooled: many of one conversation in one text, by their keys. A row of the table rows stands
  -- for the packed one of the same key. Packs of a conversation do not overlap: each has keys from first to last, all
  -- of one table.
  CREATE TABLE $schema.packed (
    ns text COLLATE "C" NOT NULL,
    c bigint NOT NULL,
    first text COLLATE "C" NOT NULL,
    last text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (ns, c, first)
  );
  `,
];

/** The tables that hold a namespace's rows; each is under row-level security. */
export const TENANT_TABLES: readonly string[] = [
  'heads',
  'recency',
  'rows',
  'log',
  'outbox',
  'feed',
  'feed_ends',
  'folded',
  'scratch',
  'blocks',
  'blobs',
  'parts',
  'additions',
  'packed',
];
