import { isTurnkeepError } from 'turnkeep/core';
import { openJournal } from 'turnkeep/journal';
import type { JournalBackend, Processes } from 'turnkeep/journal';
import { seeded } from '../harness.ts';
import { SimulatedDisk } from './disk.ts';
import { NAMESPACE, sha256, turnOf } from './turns.ts';

const DIRECTORY = '/store';
const SETTINGS = {
  foldCommits: 4,
  foldBytes: 2_000,
  segmentBytes: 8_000,
  mergeRuns: 3,
  cacheBytes: 100_000,
  filterBytes: 3_000,
};
// Any two differ in two bytes: one byte that is turned makes no id into another.
const CONVERSATIONS = ['conversation-aa', 'conversation-bb', 'conversation-cc'];
const ALONE = 'conversation-dd';
const TURNS = 4;
const HOT_MESSAGES = 4;

type Files = ReadonlyMap<string, Buffer>;

/** One way to damage a store: what becomes of its files, and which commits that touches. */
export interface Damage {
  readonly what: string;
  readonly files: Files;
  /** Commits, as `conversation version`, that may be lost or unreadable. */
  readonly touched: ReadonlySet<string>;
  /** True where nothing may be left that says whose commits were lost: then any conversation may be refused. */
  readonly isNameless: boolean;
  /** False where it is of what is derived from the log, or stands there twice. */
  readonly isOfLog: boolean;
  /** True where it leaves nothing behind that anybody could miss: a filter that was never made. */
  readonly isForgotten?: boolean | undefined;
  /** Bytes at the end that no line was acknowledged in: they may be set aside. */
  readonly beyond?: number | undefined;
}

/** A small store that was closed, and what it said. */
export interface Original {
  readonly files: Files;
  readonly directories: readonly string[];
  /** What each reading answered, by its name; see {@link readingsOf}. */
  readonly answers: ReadonlyMap<string, string>;
  /** The commits of each segment, by its number, as it was before an archive took its place. */
  readonly archived: ReadonlyMap<number, ReadonlySet<string>>;
}

const processes: Processes = {
  self: () => ({ pid: 1, host: 'machine', boot: '1', start: '1', space: '' }),
  mayLive: () => false,
};

function open(disk: SimulatedDisk, readOnly = false): Promise<JournalBackend> {
  return openJournal(DIRECTORY, { fileSystem: disk, processes, settings: SETTINGS, sha256, readOnly });
}

export async function originalStore(): Promise<Original> {
  const disk = new SimulatedDisk();
  const backend = await open(disk);
  for (let k = 0; k < TURNS; k++) {
    await Promise.all(CONVERSATIONS.map((conversation) => backend.commit(turnOf(conversation, k))));
    await backend.commit(turnOf(ALONE, k));
  }
  const archived = commitsBySegment(disk.files());
  await backend.cool(NAMESPACE, { hotMessages: HOT_MESSAGES });
  await backend.catchUp();
  const answers = await answersOf(backend);
  await backend.close();
  return { files: disk.files(), directories: disk.directories(), answers, archived };
}

interface Reading {
  /** A commit's, a conversation's or the store's. */
  readonly name: string;
  readonly read: (backend: JournalBackend) => Promise<unknown>;
}

/** Every way to read what the store holds. */
function readingsOf(): readonly Reading[] {
  const all = [...CONVERSATIONS, ALONE].flatMap((id): readonly Reading[] => {
    const versions = Array.from({ length: TURNS }, (_, at) => at + 1);
    return [
      { name: `${id} head`, read: (backend) => backend.read(NAMESPACE, (rows) => rows.head(id) ?? null) },
      {
        name: `${id} rows`,
        read: (backend) => backend.read(NAMESPACE, (rows) => rows.scan(id, { from: '', to: '\u{10ffff}' })),
      },
      { name: `${id} none`, read: (backend) => backend.read(NAMESPACE, (rows) => rows.get(id, 'none') ?? null) },
      ...versions.map((version): Reading => {
        const read: Reading['read'] = (backend) => backend.read(NAMESPACE, (rows) => rows.log(id, version) ?? null);
        return { name: `${id} ${version}`, read };
      }),
    ];
  });
  const heads: Reading['read'] = (backend) =>
    backend.read(NAMESPACE, (rows) => rows.heads({ order: 'activity', limit: 100 }));
  return [
    ...all,
    { name: 'store heads', read: heads },
    { name: 'store feed', read: (backend) => backend.feed(NAMESPACE, 0, 100) },
    { name: 'store search', read: (backend) => backend.search(NAMESPACE, { text: 'words', limit: 100 }) },
    { name: 'store namespaces', read: (backend) => backend.namespaces() },
  ];
}

const REFUSED = 'refused as corrupt';

/** What each reading answers, as text. */
async function answersOf(backend: JournalBackend): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  for (const { name, read } of readingsOf()) {
    const answer = await read(backend).then(JSON.stringify, (error: unknown) =>
      isTurnkeepError(error, 'corrupt') ? REFUSED : String(error),
    );
    answers.set(name, answer);
  }
  return answers;
}

/**
 * What damage may do: touch what it touched, loudly. Every reading answers as before or is refused; only of what the damage
 * touched is one refused. Somebody is told: a reader, or who verifies. And to open the store has changed no segment.
 */
export async function damageFaults(original: Original, damage: Damage): Promise<readonly string[]> {
  const disk = new SimulatedDisk(damage.files, original.directories);
  const faults: string[] = [];
  for (const readOnly of [true, false]) {
    const backend = await open(disk, readOnly).catch((error: unknown) => {
      // A reader may not mend what a writer mends.
      if (readOnly && isTurnkeepError(error, 'corrupt')) return undefined;
      throw error;
    });
    if (!backend) continue;
    const answers = await answersOf(backend);
    const isRefused = [...answers.values()].includes(REFUSED);
    // A damaged index is built anew by a writer; a reader says that it cannot.
    const mayRefuseAll = readOnly && !damage.isOfLog;
    faults.push(...answerFaults(original, damage, answers, mayRefuseAll));
    if (!readOnly && !isRefused && !damage.isForgotten && (await backend.verify()).length === 0)
      faults.push('nobody was told');
    await backend.close();
  }
  for (const [path, bytes] of damage.files) {
    if (!isOfLog(path)) continue;
    const now = disk.files().get(path) ?? Buffer.alloc(0);
    const kept = bytes.subarray(0, bytes.length - (damage.beyond ?? 0));
    if (!now.subarray(0, kept.length).equals(kept)) faults.push(`opening changed ${path}`);
  }
  return faults;
}

function answerFaults(
  original: Original,
  { touched, isNameless }: Damage,
  answers: ReadonlyMap<string, string>,
  mayRefuseAll: boolean,
): readonly string[] {
  const owners = new Set([...touched].map((name) => name.split(' ')[0]));
  return [...answers].flatMap(([name, answer]) => {
    const expected = original.answers.get(name) ?? '';
    if (answer === expected) return [];
    // A feed ends before what is lost, and who goes on is told.
    const isBeginning = name === 'store feed' && expected.startsWith(answer.slice(0, -1));
    if (answer !== REFUSED && !isBeginning)
      return [`${name} answers otherwise, and in silence: ${answer.slice(0, 200)}`];
    if (mayRefuseAll) return [];
    const [owner = '', what = ''] = name.split(' ');
    const isCommit = /^\d+$/.test(what);
    const isTouched = isCommit ? touched.has(name) : owners.has(owner) || (owner === 'store' && touched.size > 0);
    return isTouched || (isNameless && !isCommit) ? [] : [`${name} was not touched, and is refused`];
  });
}

/** Every byte of every file turned once, by a pattern that the seed decides. */
export function* flips(original: Original, seed: number): Generator<Damage> {
  const random = seeded(seed);
  for (const [path, bytes] of original.files) {
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 + random(255));
      yield {
        what: `byte ${at} of ${path} turned`,
        files: withFile(original, path, flipped),
        touched: touchedBy(original, path, at, at + 1),
        isOfLog: isOfLog(path),
        isNameless: isSegment(path) && (flipped[at] === LINE_FEED || isStoreNumber(bytes, at)),
      };
    }
  }
}

const LINE_FEED = 0x0a;

/** True for the bytes that tell a line of this store from another one's: without them it may be anybody's. */
function isStoreNumber(bytes: Buffer, at: number): boolean {
  const store = bytes.indexOf('{"store":"', bytes.lastIndexOf('{"meta"', at));
  return at >= store && at < store + 34;
}

/** Cuts, runs of NUL bytes, glued lines, swapped and missing files. */
export function* wounds(original: Original): Generator<Damage> {
  const paths = [...original.files.keys()].filter(isSegment).sort();
  const last = paths.at(-1) ?? '';
  for (const path of paths) yield* segmentWounds(original, path, path === last);
  for (const [left, right] of [
    [paths[0], paths[1]],
    [paths[0], last],
  ] as const)
    if (left && right) yield swapped(original, left, right);
  const runs = [...original.files.keys()].filter((path) => path.endsWith('.run'));
  if (runs[0] && runs[1]) yield swapped(original, runs[0], runs[1]);
  for (const path of original.files.keys()) {
    const files = new Map(original.files);
    files.delete(path);
    yield {
      what: `${path} missing`,
      files,
      touched: touchedBy(original, path, 0, Infinity),
      isNameless: true,
      isOfLog: isOfLog(path),
      isForgotten: path.endsWith('.words'),
    };
  }
}

function* segmentWounds(original: Original, path: string, isLast: boolean): Generator<Damage> {
  const bytes = original.files.get(path) ?? Buffer.alloc(0);
  const damage = (what: string, changed: Buffer, from: number, to: number): Damage => {
    return {
      what: `${path}: ${what}`,
      files: withFile(original, path, changed),
      touched: touchedBy(original, path, from, to),
      isNameless: true,
      isOfLog: true,
    };
  };
  if (isLast)
    for (let at = 0; at < bytes.length; at++) yield damage(`cut at ${at}`, bytes.subarray(0, at), at, Infinity);
  for (const { start, end } of linesOf(bytes)) {
    const nul = Buffer.alloc(300);
    const overwritten = Buffer.from(bytes);
    overwritten.fill(0, start + 50, Math.min(start + 350, bytes.length));
    yield damage(`NUL bytes over ${start + 50}`, overwritten, start + 50, Math.min(start + 350, bytes.length));
    const whole = Buffer.from(bytes);
    whole.fill(0, start, end);
    yield damage(`the line at ${start} is NUL`, whole, start, end);
    if (end === bytes.length)
      yield {
        ...damage(`NUL bytes after the end`, Buffer.concat([bytes, nul]), Infinity, Infinity),
        beyond: nul.length,
      };
    if (end === bytes.length) continue;
    // Lines are moved by these: places in the index do not lead to them any more, until it is built anew.
    yield damage(
      `glued at ${end}`,
      Buffer.concat([bytes.subarray(0, end - 1), bytes.subarray(end)]),
      end - 1,
      Infinity,
    );
    yield damage(
      `NUL bytes between lines at ${end}`,
      Buffer.concat([bytes.subarray(0, end), nul, bytes.subarray(end)]),
      end,
      Infinity,
    );
    yield damage(
      `the line at ${start} is gone`,
      Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]),
      start,
      Infinity,
    );
  }
}

function swapped(original: Original, left: string, right: string): Damage {
  const files = new Map(original.files);
  files.set(left, original.files.get(right) ?? Buffer.alloc(0));
  files.set(right, original.files.get(left) ?? Buffer.alloc(0));
  const touched = [left, right].flatMap((path) => [...touchedBy(original, path, 0, Infinity)]);
  return {
    what: `${left} and ${right} swapped`,
    files,
    touched: new Set(touched),
    isNameless: true,
    isOfLog: isOfLog(left),
  };
}

function isSegment(path: string): boolean {
  return path.includes('/segments/');
}

function isArchive(path: string): boolean {
  return path.includes('/archives/');
}

/** True for the files that hold what was said. */
function isOfLog(path: string): boolean {
  return isSegment(path) || isArchive(path);
}

function commitsBySegment(files: Files): ReadonlyMap<number, ReadonlySet<string>> {
  const segments = [...files].filter(([path]) => isSegment(path));
  return new Map(
    segments.map(([path, bytes]) => [numberOf(path), new Set(linesOf(bytes).map(({ commit }) => commit))]),
  );
}

/** The number of a segment or an archive. */
function numberOf(path: string): number {
  return Number(/(\d+)\.\w+$/.exec(path)?.[1]);
}

function withFile(original: Original, path: string, bytes: Buffer): Files {
  return new Map(original.files).set(path, bytes);
}

interface Line {
  readonly start: number;
  /** Behind its line feed. */
  readonly end: number;
  readonly commit: string;
}

function linesOf(bytes: Buffer): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start) + 1;
    const { commit } = JSON.parse(bytes.toString('utf8', start, end)) as {
      commit: { conversation: string; version: number };
    }; // a sound line
    lines.push({ start, end, commit: `${commit.conversation} ${commit.version}` });
    start = end;
  }
  return lines;
}

/** The commits that stand in a stretch of a segment. The other files are derived, or there twice: they hold no commit. */
function touchedBy(original: Original, path: string, from: number, to: number): ReadonlySet<string> {
  if (isArchive(path)) return original.archived.get(numberOf(path)) ?? new Set();
  if (!isSegment(path)) return new Set();
  const lines = linesOf(original.files.get(path) ?? Buffer.alloc(0));
  return new Set(lines.filter(({ start, end }) => start < to && end > from).map(({ commit }) => commit));
}
