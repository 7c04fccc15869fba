import { fileURLToPath } from 'node:url';
import { API, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';
import type { Checker, Symbol as TypeSymbol, Type, TypeReference } from 'typescript/unstable/sync';
import type { Json } from 'turnkeep';
import type { Published } from './published.ts';

/** A published type as a plain shape: what values it has, and what is none of them. */
export type Shape =
  | { readonly kind: 'any' | 'string' | 'number' | 'boolean' | 'null' | 'absent' | 'foreign' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'template'; readonly start: string }
  | { readonly kind: 'array'; readonly item: Shape }
  | { readonly kind: 'union'; readonly members: readonly Shape[] }
  | ObjectShape;

export interface ObjectShape {
  readonly kind: 'object';
  readonly name: string;
  readonly fields: ReadonlyMap<string, { readonly isOptional: boolean; readonly shape: Shape }>;
  /** The shape of what stands under any other key; `undefined` where there is none. */
  readonly others: Shape | undefined;
}

/** What is an object in JavaScript and no JSON: it crosses as text. */
const FOREIGN = /^(?:URL|Uint8Array|ArrayBuffer|Buffer)(?:<.*>)?$/;

/** Reads the shapes of all published types with the compiler. */
export function publishedShapes(): ReadonlyMap<keyof Published, Shape> {
  const config = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
  const source = fileURLToPath(new URL('../../src/formats/published.ts', import.meta.url));
  const api = new API({ cwd: fileURLToPath(new URL('../../', import.meta.url)) });
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const file = project?.program.getSourceFile(source);
    const checker = project?.checker;
    const published =
      file &&
      checker
        ?.getSymbolAtLocation(file)
        ?.getExports()
        .get('Published' as never);
    if (!checker || !published) throw new Error('the published types are not to be found');
    const reader = new ShapeReader(checker);
    const fields = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(published));
    return new Map(fields.map((field) => [field.name as keyof Published, reader.ofSymbol(field)]));
  } finally {
    api.close();
  }
}

class ShapeReader {
  readonly #checker: Checker;
  readonly #known = new Map<number, Shape>();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  ofSymbol(symbol: TypeSymbol): Shape {
    const type = this.#checker.getTypeOfSymbol(symbol);
    return type ? this.#of(type) : { kind: 'any' };
  }

  /** Types may contain themselves: a shape is known before it is filled. */
  #of(type: Type): Shape {
    const known = this.#known.get(type.id);
    if (known) return known;
    const shape = {} as Shape;
    this.#known.set(type.id, shape);
    return Object.assign(shape, this.#read(type));
  }

  #read(type: Type): Shape {
    const { flags } = type;
    if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return { kind: 'any' };
    if (type.isUnionType()) return { kind: 'union', members: type.getTypes().map((one) => this.#of(one)) };
    if (flags & (TypeFlags.StringLiteral | TypeFlags.NumberLiteral)) {
      return { kind: 'literal', value: (type as Type & { readonly value: string | number }).value };
    }
    const name = this.#checker.typeToString(type);
    if (flags & TypeFlags.BooleanLiteral) return { kind: 'literal', value: name === 'true' };
    if (flags & TypeFlags.Boolean) return { kind: 'boolean' };
    if (flags & TypeFlags.String || name.startsWith('string & ')) return { kind: 'string' };
    if (flags & TypeFlags.Number) return { kind: 'number' };
    if (flags & TypeFlags.Null) return { kind: 'null' };
    if (flags & (TypeFlags.Undefined | TypeFlags.Never)) return { kind: 'absent' };
    if (flags & TypeFlags.TemplateLiteral) return { kind: 'template', start: name.slice(1, name.indexOf('$')) };
    return FOREIGN.test(name) ? { kind: 'foreign' } : this.#object(type, name);
  }

  #object(type: Type, name: string): Shape {
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type as TypeReference);
      return { kind: 'array', item: item ? this.#of(item) : { kind: 'any' } };
    }
    const [index] = this.#checker.getIndexInfosOfType(type);
    const properties = this.#checker.getPropertiesOfType(type);
    const fields = properties.map((property) => {
      const isOptional = (property.flags & SymbolFlags.Optional) !== 0;
      return [property.name, { isOptional, shape: this.ofSymbol(property) }] as const;
    });
    return { kind: 'object', name, fields: new Map(fields), others: index && this.#of(index.valueType) };
  }
}

/**
 * Values of a shape: for an object the smallest one, the fullest one, and one for each way that each of its fields can be;
 * for a list the empty one, and one for each item alone. `label` of a text is the name of its field, so that two fields
 * that are mixed up are told apart.
 */
export function samplesOf(shape: Shape, label = 'text', within: readonly Shape[] = []): readonly Json[] {
  // A shape within itself is sampled once.
  if (within.filter((one) => one === shape).length > 1) return [];
  const inside = [...within, shape];
  switch (shape.kind) {
    case 'any':
      return [{ any: label }];
    case 'string':
      return [`a ${label}`];
    case 'number':
      return [7];
    case 'boolean':
      return [true, false];
    case 'null':
      return [null];
    case 'absent':
    case 'foreign':
      return [];
    case 'literal':
      return [shape.value];
    case 'template':
      return [`${shape.start}x`];
    case 'array':
      return [[], ...samplesOf(shape.item, label, inside).map((item) => [item])];
    case 'union':
      return shape.members.flatMap((member) => samplesOf(member, label, inside));
    default:
      return objectSamples(shape, inside);
  }
}

function objectSamples(shape: ObjectShape, within: readonly Shape[]): readonly Json[] {
  const fields = [...shape.fields].map(([key, field]) => ({
    key,
    ...field,
    samples: samplesOf(field.shape, key, within),
  }));
  if (fields.some((field) => field.samples.length === 0 && !field.isOptional)) return [];
  const sampled = fields.filter((field) => field.samples.length > 0);
  const firsts = (some: typeof sampled) =>
    Object.fromEntries(some.map(({ key, samples }) => [key, samples[0] as Json]));
  const least = firsts(sampled.filter((field) => !field.isOptional));
  const others = shape.others ? samplesOf(shape.others, 'other', within).slice(0, 1) : [];
  const fullest = { ...firsts(sampled), ...(others.length > 0 ? { other: others[0] as Json } : {}) };
  const varied = sampled.flatMap(({ key, samples }) => samples.map((value) => ({ ...least, [key]: value })));
  return [least, fullest, ...varied];
}

/** Where a value is none of the shape: the path of the first fault, or `undefined`. */
export function faultIn(shape: Shape, value: unknown, path = 'value'): string | undefined {
  switch (shape.kind) {
    case 'any':
      return undefined;
    case 'absent':
      return value === undefined ? undefined : path;
    case 'null':
      return value === null ? undefined : path;
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === shape.kind ? undefined : path;
    case 'foreign':
      return path;
    case 'literal':
      return value === shape.value ? undefined : path;
    case 'template':
      return typeof value === 'string' && value.startsWith(shape.start) ? undefined : path;
    case 'array':
      return Array.isArray(value)
        ? firstFault(value.map((item, at) => faultIn(shape.item, item, `${path}[${at}]`)))
        : path;
    case 'union':
      return unionFault(shape.members, value, path);
    default:
      return objectFault(shape, value, path);
  }
}

function firstFault(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}

/** The fault of the member that came furthest. */
function unionFault(members: readonly Shape[], value: unknown, path: string): string | undefined {
  const faults: string[] = [];
  for (const member of members) {
    const fault = faultIn(member, value, path);
    if (fault === undefined) return undefined;
    faults.push(fault);
  }
  return faults.sort((left, right) => right.length - left.length)[0];
}

function objectFault(shape: ObjectShape, value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return path;
  const given = value as { readonly [key: string]: unknown };
  for (const [key, { isOptional, shape: field }] of shape.fields) {
    if (given[key] === undefined && isOptional) continue;
    const fault = faultIn(field, given[key], `${path}.${key}`);
    if (fault !== undefined) return fault;
  }
  for (const key of Object.keys(given)) {
    if (given[key] === undefined || shape.fields.has(key)) continue;
    if (!shape.others) return `${path}.${key}`;
    const fault = faultIn(shape.others, given[key], `${path}.${key}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The kinds of part that a list of messages holds, those within results too. */
export function kindsIn(value: unknown, kinds: Set<string> = new Set()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const one of value) kindsIn(one, kinds);
  else if (typeof value === 'object' && value !== null) {
    const { type, kind, content, parts } = value as { readonly [key: string]: unknown };
    if (typeof type === 'string') kinds.add(type === 'opaque' ? String(kind) : type);
    kindsIn(content, kinds);
    kindsIn(parts, kinds);
  }
  return kinds;
}
