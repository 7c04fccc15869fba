/** A JSON value. A property that holds `undefined` is absent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

export type JsonObject = { readonly [key: string]: Json | undefined };

/**
 * What `T` must extend to be JSON, for values whose type is an interface: an interface has no index signature, so the
 * compiler does not accept it as {@link Json}. Functions, symbols, big integers and class instances with methods do not.
 */
export type JsonLike<T> = null | boolean | number | string | { readonly [Key in keyof T]: JsonPart<T[Key]> };

type JsonPart<T> = T extends Json | undefined
  ? T
  : T extends ((...args: never[]) => unknown) | symbol | bigint
    ? never
    : { readonly [Key in keyof T]: Key extends string | number ? JsonPart<T[Key]> : never };

/**
 * `value` itself, which the compiler then accepts as JSON, for values whose type is an interface. It is checked when it is
 * committed, not here.
 */
export function asJson<T extends JsonLike<T>>(value: T): Json {
  return value;
}

/** Sets an own property also where the key is `__proto__`, which an assignment would lose. */
export function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** `path.key`, or `path["key"]` where the key is not a plain name. */
export function memberPath(path: string, key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
