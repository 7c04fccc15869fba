import type { Plot } from '../workload.ts';

const WIDTH = 720;
const HEIGHT = 400;
const AREA = { left: 64, right: 216, top: 44, bottom: 48 };
const LABEL_STEP = 15;

/** Colours that are told apart on white and on black. */
const COLOURS = [
  '#2f7de1',
  '#e0692a',
  '#22a06b',
  '#9a5fd0',
  '#d0417e',
  '#a08a1c',
  '#5b8a9a',
  '#8a8a8a',
  '#c25b4a',
  '#4a6fb0',
  '#3f9e9e',
  '#b07a4a',
  '#7a8f3a',
];

const STYLE = `
  .paper { fill: #ffffff } text { fill: #24292f; font: 12px system-ui, sans-serif } .title { font-size: 14px; font-weight: 600 }
  .grid { stroke: #d0d7de; stroke-width: 1 } .line { fill: none; stroke-width: 3 } .beside { stroke-width: 1.5; stroke-dasharray: 6 3 }
  @media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } }`;

/** A scale that gives each power of ten the same room. */
class LogScale {
  readonly ticks: readonly number[];
  readonly #from: number;
  readonly #perDecade: number;
  readonly #start: number;

  constructor(values: readonly number[], start: number, end: number) {
    const low = Math.floor(Math.log10(Math.min(...values)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
    this.ticks = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
    this.#from = low;
    this.#start = start;
    this.#perDecade = (end - start) / (high - low);
  }

  at(value: number): number {
    return Number((this.#start + (Math.log10(value) - this.#from) * this.#perDecade).toFixed(1));
  }
}

/** The plot as a picture that follows the reader's light or dark. */
export function svgOf({ title, x, y, lines }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const across = new LogScale(
    points.map(([at]) => at),
    AREA.left,
    WIDTH - AREA.right,
  );
  const up = new LogScale(
    points.map(([, value]) => value),
    HEIGHT - AREA.bottom,
    AREA.top,
  );
  const middle = (AREA.left + WIDTH - AREA.right) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${escaped(title)}</title><style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="${AREA.left}" y="22">${escaped(title)}</text>`,
    `<text x="${middle}" y="${HEIGHT - 10}" text-anchor="middle">${escaped(x)}</text>`,
    `<text x="${AREA.left}" y="${AREA.top - 6}">${escaped(y)}</text>`,
    ...up.ticks.map((value) => horizontal(up.at(value), tickOf(value))),
    ...across.ticks.map((value) => vertical(across.at(value), tickOf(value))),
    ...linesOf(lines, across, up),
    '</svg>\n',
  ].join('\n');
}

/** A power of ten, as one writes it. */
function tickOf(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 6 });
}

function horizontal(at: number, label: string): string {
  const line = `<line class="grid" x1="${AREA.left}" x2="${WIDTH - AREA.right}" y1="${at}" y2="${at}"/>`;
  return `${line}<text x="${AREA.left - 6}" y="${at + 4}" text-anchor="end">${label}</text>`;
}

function vertical(at: number, label: string): string {
  const line = `<line class="grid" x1="${at}" x2="${at}" y1="${AREA.top}" y2="${HEIGHT - AREA.bottom}"/>`;
  return `${line}<text x="${at}" y="${HEIGHT - AREA.bottom + 16}" text-anchor="middle">${label}</text>`;
}

/** Each line, those of others dashed, with its name beside its end; names that would lie on each other give way downwards. */
function linesOf(lines: Plot['lines'], across: LogScale, up: LogScale): readonly string[] {
  const drawn = lines.map(({ who, points }, at) => {
    const places = points.map(([x, y]) => [across.at(x), up.at(y)] as const);
    return { who, places, colour: COLOURS[at % COLOURS.length] ?? '', end: places.at(-1)?.[1] ?? 0 };
  });
  let free = 0;
  return drawn
    .toSorted((left, right) => left.end - right.end)
    .map(({ who, places, colour, end }) => {
      const label = Math.max(end + 4, free);
      free = label + LABEL_STEP;
      const dots = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`).join('');
      const kind = who.startsWith('turnkeep') ? 'line' : 'line beside';
      const path = `<polyline class="${kind}" stroke="${colour}" points="${places.map((place) => place.join(',')).join(' ')}"/>`;
      const x = WIDTH - AREA.right + 12;
      const name = `<text x="${x + 14}" y="${label}">${escaped(who)}</text>`;
      return `${path}${dots}<rect x="${x}" y="${label - 9}" width="9" height="9" fill="${colour}"/>${name}`;
    });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
