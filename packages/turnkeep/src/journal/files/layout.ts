/** The names in a journal's directory; docs/formats/journal.md describes each. */
export const LAYOUT = {
  manifest: 'manifest.json',
  manifestCopy: 'manifest.copy.json',
  fold: 'fold.json',
  durable: 'durable.json',
  unclean: 'unclean',
  lockPrefix: 'lock.',
  segments: 'segments',
  runs: 'runs',
  archives: 'archives',
  search: 'search',
  attachments: 'attachments',
  damaged: 'damaged',
  scratch: 'scratch',
} as const;

export const TEMPORARY = '.tmp';

const SEGMENT = /^(\d{4,})\.jsonl$/;
const ARCHIVE = /^(\d{4,})\.tka$/;
const RUN = /^(\d{4,})\.run$/;
const FILTER = /^\d{12,}\.words$/;

export function segmentName(number: number): string {
  return `${String(number).padStart(4, '0')}.jsonl`;
}

export function archiveName(number: number): string {
  return `${String(number).padStart(4, '0')}.tka`;
}

/** The numbers of the archived segments among some names, in order. */
export function archiveNumbers(names: readonly string[]): readonly number[] {
  return numbersOf(names, ARCHIVE);
}

export function runName(number: number): string {
  return `${String(number).padStart(4, '0')}.run`;
}

/** The file of filters whose first line has this number. */
export function filterName(line: number): string {
  return `${String(line).padStart(12, '0')}.words`;
}

export function isFilter(name: string): boolean {
  return FILTER.test(name);
}

/** True for what the journal itself may have left in its folder of runs: what somebody else put there is not ours to remove. */
export function isRunOrUnfinished(name: string): boolean {
  return RUN.test(finished(name));
}

/** The same for the folder of filters. */
export function isFilterOrUnfinished(name: string): boolean {
  return isFilter(finished(name));
}

function finished(name: string): string {
  return name.endsWith(TEMPORARY) ? name.slice(0, -TEMPORARY.length) : name;
}

/** The numbers of the segments among some names, in order. */
export function segmentNumbers(names: readonly string[]): readonly number[] {
  return numbersOf(names, SEGMENT);
}

export function runNumbers(names: readonly string[]): readonly number[] {
  return numbersOf(names, RUN);
}

function numbersOf(names: readonly string[], pattern: RegExp): readonly number[] {
  const numbers = names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number);
  return numbers.sort((left, right) => left - right);
}
