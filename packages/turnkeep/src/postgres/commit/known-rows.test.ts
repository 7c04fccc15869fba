import { describe, expect, it } from 'vitest';
import { KnownRows } from './known-rows.ts';

const row = (key: string) => ({ key, value: [key] });
const keysOf = (rows: ReturnType<KnownRows['scan']>) => (typeof rows === 'symbol' ? rows : rows.map(({ key }) => key));

describe('what is known of rows', () => {
  it('a row is unknown until it was looked up, and one that is not there stays known', () => {
    const known = new KnownRows();
    expect(known.get('a')).toBe(KnownRows.unknown);
    known.put('a', undefined);
    known.put('b', ['b']);
    expect(known.get('a')).toBeUndefined();
    expect(known.get('b')).toEqual(['b']);
  });

  it('a range that ended short of its limit is known whole, and its parts with it', () => {
    const known = new KnownRows();
    known.putRange({ from: 'a', to: 'z', limit: 5 }, [row('b'), row('d')]);
    expect(known.get('c')).toBeUndefined();
    expect(keysOf(known.scan({ from: 'c', to: 'k' }))).toEqual(['d']);
    expect(keysOf(known.scan({ from: 'a', to: 'z', reverse: true, limit: 1 }))).toEqual(['d']);
    expect(known.scan({ from: 'a', to: 'zz' })).toBe(KnownRows.unknown);
  });

  it('a range that was full is known as far as it went', () => {
    const known = new KnownRows();
    known.putRange({ from: 'a', to: 'z', limit: 2 }, [row('b'), row('d')]);
    expect(keysOf(known.scan({ from: 'a', to: 'z', limit: 2 }))).toEqual(['b', 'd']);
    expect(known.scan({ from: 'a', to: 'z', limit: 3 })).toBe(KnownRows.unknown);
    expect(known.get('c')).toBeUndefined();
    expect(known.get('e')).toBe(KnownRows.unknown);
    known.putRange({ from: 'd', to: 'z', reverse: true, limit: 9 }, [row('f'), row('d')]);
    expect(keysOf(known.scan({ from: 'a', to: 'z' }))).toEqual(['b', 'd', 'f']);
  });

  it('backwards it is known down to its last row', () => {
    const known = new KnownRows();
    known.putRange({ from: 'a', to: 'z', reverse: true, limit: 2 }, [row('y'), row('m')]);
    expect(keysOf(known.scan({ from: 'a', to: 'z', reverse: true, limit: 2 }))).toEqual(['y', 'm']);
    expect(known.scan({ from: 'a', to: 'z', reverse: true })).toBe(KnownRows.unknown);
    expect(keysOf(known.scan({ from: 'n', to: 'z', reverse: true }))).toEqual(['y']);
  });
});
