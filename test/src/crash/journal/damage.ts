import { openJournal } from 'turnkeep/journal';
import type { JournalBackend, Processes } from 'turnkeep/journal';
import { seeded } from '../harness.ts';
import { SimulatedDisk } from './disk.ts';
import { conversationText } from './law.ts';
import { NAMESPACE, sha256, turnOf } from './turns.ts';

const DIRECTORY = '/store';
const SETTINGS = { foldCommits: 4, foldBytes: 2_000, segmentBytes: 8_000, mergeRuns: 3, cacheBytes: 100_000 };
const CONVERSATIONS = ['a', 'b', 'c'];
const TURNS = 4;

type Files = ReadonlyMap<string, Buffer>;

/** One way to damage a store: what becomes of its files, and which commits that touches. */
export interface Damage {
  readonly what: string;
  readonly files: Files;
  /** Commits, as `conversation version`, that may be lost or unreadable. */
  readonly touched: ReadonlySet<string>;
  /** Bytes at the end that no line was acknowledged in: they may be set aside. */
  readonly beyond?: number | undefined;
}

/** A small store that was closed, and what it said. */
export interface Original {
  readonly files: Files;
  readonly directories: readonly string[];
  /** The log record of each commit, by `conversation version`. */
  readonly logs: ReadonlyMap<string, string>;
  readonly conversations: ReadonlyMap<string, string>;
}

const processes: Processes = {
  self: () => ({ pid: 1, host: 'machine', boot: '1', start: '1', space: '' }),
  mayLive: () => false,
};

function open(disk: SimulatedDisk): Promise<JournalBackend> {
  return openJournal(DIRECTORY, { fileSystem: disk, processes, settings: SETTINGS, sha256 });
}

export async function originalStore(): Promise<Original> {
  const disk = new SimulatedDisk();
  const backend = await open(disk);
  for (let k = 0; k < TURNS; k++) {
    await Promise.all(CONVERSATIONS.map((conversation) => backend.commit(turnOf(conversation, k))));
    await backend.commit(turnOf('d', k));
  }
  const logs = new Map<string, string>();
  const conversations = new Map<string, string>();
  for (const id of [...CONVERSATIONS, 'd']) {
    await backend.read(NAMESPACE, (rows) => {
      conversations.set(id, conversationText(rows, id, TURNS));
      for (let version = 1; version <= TURNS; version++)
        logs.set(`${id} ${version}`, JSON.stringify(rows.log(id, version)));
    });
  }
  await backend.close();
  return { files: disk.files(), directories: disk.directories(), logs, conversations };
}

/**
 * What damage may do: touch what it touched, loudly. Every other commit reads as before, a conversation none of whose
 * commits it touched is the same row by row, and to open the store has changed no segment.
 */
export async function damageFaults(original: Original, damage: Damage): Promise<readonly string[]> {
  const disk = new SimulatedDisk(damage.files, original.directories);
  const faults: string[] = [];
  const backend = await open(disk);
  let isLoud = false;
  for (const [name, text] of original.logs) {
    const [id = '', version] = name.split(' ');
    const read = await backend
      .read(NAMESPACE, (rows) => JSON.stringify(rows.log(id, Number(version))))
      .catch(() => 'unreadable');
    if (read === text) continue;
    isLoud ||= read === 'unreadable';
    if (!damage.touched.has(name)) faults.push(`commit ${name} was not touched, and reads otherwise`);
  }
  for (const [id, text] of original.conversations) {
    if ([...damage.touched].some((name) => name.startsWith(`${id} `))) continue;
    const read = await backend.read(NAMESPACE, (rows) => conversationText(rows, id, TURNS)).catch(String);
    if (read !== text) faults.push(`conversation ${id} was not touched, and is another`);
  }
  isLoud ||= (await backend.verify()).length > 0;
  await backend.close();
  if (!isLoud) faults.push('nobody was told');
  for (const [path, bytes] of damage.files) {
    if (!path.startsWith(`${DIRECTORY}/segments/`)) continue;
    const now = disk.files().get(path) ?? Buffer.alloc(0);
    const kept = bytes.subarray(0, bytes.length - (damage.beyond ?? 0));
    if (!now.subarray(0, kept.length).equals(kept)) faults.push(`opening changed ${path}`);
  }
  return faults;
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
      };
    }
  }
}

/** Cuts, runs of NUL bytes, glued lines, swapped and missing files. */
export function* wounds(original: Original): Generator<Damage> {
  const paths = [...original.files.keys()].filter((path) => path.includes('/segments/')).sort();
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
    yield { what: `${path} missing`, files, touched: touchedBy(original, path, 0, Infinity) };
  }
}

function* segmentWounds(original: Original, path: string, isLast: boolean): Generator<Damage> {
  const bytes = original.files.get(path) ?? Buffer.alloc(0);
  const damage = (what: string, changed: Buffer, from: number, to: number): Damage => {
    return {
      what: `${path}: ${what}`,
      files: withFile(original, path, changed),
      touched: touchedBy(original, path, from, to),
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
  return { what: `${left} and ${right} swapped`, files, touched: new Set(touched) };
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
  if (!path.includes('/segments/')) return new Set();
  const lines = linesOf(original.files.get(path) ?? Buffer.alloc(0));
  return new Set(lines.filter(({ start, end }) => start < to && end > from).map(({ commit }) => commit));
}
