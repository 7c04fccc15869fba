import type { JsonObject } from '../../core/json.ts';
import { SESSION, SessionWriter, uuid } from './session.testkit.ts';

/** Draws a whole number below `end`. */
export type Draw = (end: number) => number;

/** A session file as it may lie on a disk. */
export interface AnySession {
  /** Its lines, each without its end, whatever happened to them. */
  readonly lines: readonly Buffer[];
  /** How many lines it had at earlier times. */
  readonly stages: readonly number[];
  readonly isEnded: boolean;
}

/** Texts that stand between words: what splits lines, what is half a character, what looks like JSON. */
const ODD = [' ', '\u2028', '\u0085', '\u0000', '\\u0000', '\ud83d', '漢字🔥', '\r\n', '"}{"', '{"a":1}', '\u202e'];
/** What a row may end with that a value of JavaScript does not say. */
const INEXACT = [
  '"big":12345678901234567890',
  '"e":1e400',
  '"dup":1,"dup":2',
  `"nest":${'['.repeat(200)}${']'.repeat(200)}`,
];
/** Lines that are no rows. */
const NO_ROWS = ['', '   ', 'null', '42', '[]', 'words', '\ufeff', '{"uuid":7}', '\0'.repeat(300)];

const write = new SessionWriter();
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

/**
 * Draws sessions of rows of every kind and version, with parents, ids and calls that mostly fit, with damage, and with the
 * stages in which the file grew. Every text holds words of its own, `w1z`, `w2z`, …, so that each can be looked for.
 */
export function anySession(draw: Draw): AnySession {
  return new Drawing(draw).session();
}

class Drawing {
  readonly #draw: Draw;
  readonly #ids: number[] = [];
  readonly #rows: JsonObject[] = [];
  #words = 0;
  #calls = 0;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  session(): AnySession {
    const count = 1 + this.#draw(20);
    for (let at = 0; at < count; at++) this.#rows.push(this.#row(at));
    const texts = this.#rows.map((row) => JSON.stringify(row));
    if (this.#one(5)) {
      const at = this.#draw(texts.length);
      texts[at] = `${texts[at]?.slice(0, -1)},${this.#of(INEXACT)}}`;
    }
    const lines = texts.map((text) => Buffer.from(text));
    for (let times = this.#one(2) ? 1 + this.#draw(3) : 0; times > 0; times--) this.#damage(lines);
    const stages = Array.from({ length: this.#draw(4) }, () => this.#draw(lines.length + 1));
    return { lines, stages: stages.sort((left, right) => left - right), isEnded: !this.#one(4) };
  }

  #one(chances: number): boolean {
    return this.#draw(chances) === 0;
  }

  #of<Item>(items: readonly Item[]): Item {
    return items[this.#draw(items.length)] as Item;
  }

  #word(): string {
    this.#words += 1;
    return `w${this.#words}z`;
  }

  #text(): string {
    return this.#one(3) ? `${this.#word()}${this.#of(ODD)}${this.#word()}` : this.#word();
  }

  #row(at: number): JsonObject {
    const id = this.#one(15) && at > 0 ? this.#of(this.#ids) : at;
    const before = this.#ids.at(-1) ?? null;
    const parent = this.#one(8) ? this.#of([null, 900, id, ...this.#ids]) : before;
    const row = this.#rowOf(id, parent);
    this.#ids.push(id);
    if (row['uuid'] === undefined) return row;
    const side = this.#one(12) ? { isSidechain: true, ...(this.#one(2) ? { agentId: 'agent' } : {}) } : {};
    return {
      ...row,
      version: this.#of(['1.0.44', '2.0.22', '2.1.144']),
      ...side,
      ...(this.#one(20) ? { isMeta: true } : {}),
    };
  }

  #rowOf(id: number, parent: number | null): JsonObject {
    const says = (...blocks: readonly JsonObject[]) => write.assistant(id, parent, `m${this.#draw(9)}`, blocks);
    const system = (subtype: string) =>
      write.system(id, parent, subtype, this.#one(2) ? { content: this.#text() } : {});
    const kinds: readonly (() => JsonObject)[] = [
      () => write.user(id, parent, this.#text()),
      () => write.user(id, parent, [{ type: 'text', text: this.#text() }, this.#shown()]),
      () => says({ type: 'text', text: this.#text() }),
      () => says({ type: 'thinking', thinking: this.#text(), signature: 's' }, { type: 'text', text: this.#text() }),
      () => says(this.#call()),
      () => says({ type: 'text', text: this.#text() }, this.#call(), this.#call()),
      () => says({ type: 'server_tool_use', id: `srv_${id}`, name: 'web_search', input: { query: this.#word() } }),
      () => write.user(id, parent, [this.#result()], { toolUseResult: { stdout: this.#word() } }),
      () => write.user(id, parent, [this.#result()]),
      () => write.user(id, parent, [this.#result(), this.#result(), { type: 'text', text: this.#text() }]),
      () => system(this.#of(['local_command', 'turn_duration', 'api_error'])),
      () => ({
        ...write.envelope(id, parent),
        type: this.#of(['progress', 'attachment', 'brand-new']),
        data: this.#word(),
      }),
      () => write.boundary(id, parent, this.#one(3) ? { preservedSegment: { headUuid: uuid(this.#draw(9)) } } : {}),
      () => write.summary(id, parent, this.#of([this.#text(), ' '])),
      () => ({ ...says({ type: 'text', text: this.#text() }), isApiErrorMessage: true }),
      () =>
        write.user(id, parent, this.#of<JsonObject[string]>([{ odd: this.#word() }, [[this.#word()], 42, null], null])),
      () => ({ type: 'summary', summary: this.#word(), leafUuid: uuid(this.#draw(9)) }),
      () => ({ type: this.#of(['ai-title', 'custom-title']), aiTitle: this.#word(), customTitle: this.#word() }),
      () => ({ type: this.#of(['queue-operation', 'pr-link', 'future']), content: this.#word(), sessionId: SESSION }),
      () => ({ type: 'last-prompt', leafUuid: uuid(this.#draw(9)), sessionId: SESSION }),
      () => this.#rows.at(-1 - this.#draw(3)) ?? write.user(id, parent, this.#text()),
    ];
    return this.#of(kinds)();
  }

  #shown(): JsonObject {
    const document = { type: 'document', title: this.#word(), source: { type: 'text', data: this.#word() } };
    return this.#of<JsonObject>([IMAGE, document, { type: 'weird', value: this.#word() }]);
  }

  #call(): JsonObject {
    const id = `call_${this.#one(8) ? this.#draw(4) : this.#calls++}`;
    const input = this.#of<JsonObject>([{ path: this.#word() }, { prompt: this.#text(), list: [this.#word(), 1] }, {}]);
    return { type: 'tool_use', id, name: this.#of(['Read', 'Task']), input };
  }

  #result(): JsonObject {
    const text = { type: 'text', text: this.#text() };
    const content = this.#of<JsonObject[string]>([this.#text(), [text], [text, IMAGE], null, '']);
    const id = `call_${Math.max(0, this.#calls - 1 - this.#draw(3))}`;
    return { type: 'tool_result', tool_use_id: id, content, ...(this.#one(5) ? { is_error: true } : {}) };
  }

  #damage(lines: Buffer[]): void {
    const at = this.#draw(lines.length);
    const line = lines[at] ?? Buffer.alloc(0);
    const cut = this.#draw(line.length + 1);
    const ways: readonly (() => unknown)[] = [
      () => lines.splice(at, 1, line.subarray(0, cut)),
      () => lines.splice(at, 2, Buffer.concat([line.subarray(0, cut), lines[at + 1] ?? line])),
      () => lines.splice(at, 1, Buffer.concat([Buffer.alloc(1 + this.#draw(99)), line])),
      () => lines.splice(at, 1, Buffer.concat([line.subarray(0, cut), Buffer.from([0xff]), line.subarray(cut + 1)])),
      () => lines.splice(at, 1, Buffer.concat([line.subarray(0, cut), Buffer.alloc(9), line.subarray(cut + 9)])),
      () => lines.splice(at, 1, Buffer.concat([Buffer.from('\ufeff'), line, Buffer.from('\r')])),
      () => lines.splice(at, 0, Buffer.from(this.#of(NO_ROWS))),
      () => lines.splice(at, 0, line),
    ];
    this.#of(ways)();
  }
}
