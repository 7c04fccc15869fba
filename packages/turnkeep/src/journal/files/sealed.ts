import * as crypto from 'node:crypto';

const SEALED = /^\{"sha":"([\w-]{43})","holds":(.*)\} *\n$/s;

/** One line of JSON that carries its own digest: small files that are replaced as one. */
export function seal(value: unknown): string {
  const text = JSON.stringify(value);
  return `{"sha":"${crypto.hash('sha256', text, 'base64url')}","holds":${text}}\n`;
}

/** What {@link seal} sealed, or `undefined` where the digest does not fit. */
export function unseal(bytes: Buffer): unknown {
  const [, sha, text = ''] = SEALED.exec(bytes.toString('utf8')) ?? [];
  if (sha === undefined || crypto.hash('sha256', text, 'base64url') !== sha) return undefined;
  return JSON.parse(text) as unknown; // the digest fits: we wrote it
}
