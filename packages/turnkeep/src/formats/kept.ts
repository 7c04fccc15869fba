import { idProblem } from '../core/ids.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { MessageContent, NewMessage, Part } from '../core/message.ts';
import type { FormatName } from './format.ts';
import { isObject, laidOver, patchOf } from './patch.ts';

/** Says a part in the words of a format; `undefined` where it has none for it. */
type Say = (part: Part) => Json | undefined;

/** What a part keeps for a format beside its words: marks that the codec reads, and a patch. */
export function keptBy(part: Part, format: FormatName): JsonObject {
  const kept = part.providerMetadata?.[format];
  return isObject(kept) ? kept : {};
}

/** `part` with a mark that the format reads again. */
export function marked<P extends Part>(part: P, format: FormatName, marks: JsonObject): P {
  const kept = { ...keptBy(part, format), ...marks };
  return { ...part, providerMetadata: { ...part.providerMetadata, [format]: kept } };
}

/**
 * The part for a block, with those members of the block beside it that it cannot say; an opaque part with the whole block
 * where there is no part for it, or one that says something else.
 */
export function exactPart(part: Part | undefined, native: Json, format: FormatName, say: Say): Part {
  const said = part && say(part);
  if (part && isObject(said) && isObject(native)) {
    const patch = patchOf(said, native);
    if (patch) return Object.keys(patch).length === 0 ? part : marked(part, format, { patch });
  }
  return opaqueOf(native, format);
}

export function opaqueOf(native: Json, format: FormatName): Part {
  const type = isObject(native) ? native['type'] : undefined;
  const name = typeof type === 'string' && type !== '' ? type : 'part';
  return { type: 'opaque', kind: `${format}.${name}`, value: native };
}

/** What a part says, with what it keeps for the format laid over it. */
export function exactly(said: JsonObject, part: Part, format: FormatName): JsonObject {
  const { patch } = keptBy(part, format);
  return isObject(patch) ? laidOver(said, patch) : said;
}

/** What a message keeps for a format beside its parts. */
export function keptOf(message: MessageContent, format: FormatName): JsonObject {
  const kept = isObject(message.metadata) ? message.metadata[format] : undefined;
  return isObject(kept) ? kept : {};
}

export function withMarks(message: NewMessage, format: FormatName, marks: JsonObject): NewMessage {
  return { ...message, metadata: { [format]: { ...keptOf(message, format), ...marks } } };
}

/** The message with what its parts cannot say of `native`; `undefined` where they say something else. */
export function exactMessage(
  message: NewMessage,
  native: JsonObject,
  format: FormatName,
  said: JsonObject | undefined,
): NewMessage | undefined {
  const patch = said && patchOf(said, native);
  if (!patch) return undefined;
  return Object.keys(patch).length === 0 ? message : withMarks(message, format, { patch });
}

/** What a message says, with what it keeps for the format laid over it. */
export function messageExactly(said: JsonObject, message: MessageContent, format: FormatName): JsonObject {
  const { patch } = keptOf(message, format);
  return isObject(patch) ? laidOver(said, patch) : said;
}

/** Keeps ids that no call of ours could have, and a call or result that stands twice in one message, out of our words. */
export function storable(parts: readonly Part[], natives: readonly Json[], format: FormatName): readonly Part[] {
  const seen = new Set<string>();
  return parts.map((part, at) => {
    if (part.type !== 'tool_call' && part.type !== 'tool_result') return part;
    const key = `${part.type} ${part.callId}`;
    if (!seen.has(key) && idProblem(part.callId) === undefined) {
      seen.add(key);
      return part;
    }
    return opaqueOf(natives[at] as Json, format);
  });
}

export function textAt(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
