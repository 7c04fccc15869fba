import { expect, test } from 'vitest';
import { WriteRate } from './write-rate.ts';

function rateAt(start: number) {
  const clock = { now: start };
  const rate = new WriteRate({ now: () => clock.now, burst: 80 });
  return { clock, rate };
}

test('a store that nobody wrote to is quiet', () => {
  const { rate } = rateAt(0);
  expect([rate.isQuiet(), rate.isBurst()]).toEqual([true, false]);
});

test('much in a window is a burst, until the window after it has passed', () => {
  const { clock, rate } = rateAt(5_000);
  rate.wrote(80);
  expect([rate.isQuiet(), rate.isBurst()]).toEqual([false, true]);
  clock.now += 150;
  expect([rate.isQuiet(), rate.isBurst()]).toEqual([false, true]);
  clock.now += 60;
  expect([rate.isQuiet(), rate.isBurst()]).toEqual([true, false]);
});

test('a trickle is neither quiet nor a burst', () => {
  const { clock, rate } = rateAt(1);
  for (let at = 0; at < 40; at++) {
    clock.now += 50;
    rate.wrote(8);
    expect([rate.isQuiet(), rate.isBurst()]).toEqual([false, false]);
  }
});

test('what is written in windows that lie apart is not added up', () => {
  const { clock, rate } = rateAt(1);
  rate.wrote(79);
  clock.now += 300;
  rate.wrote(79);
  expect(rate.isBurst()).toBe(false);
});

test('what is written without an end is a burst for two seconds, and again after a pause', () => {
  const { clock, rate } = rateAt(1);
  const bursts = Array.from({ length: 50 }, () => {
    clock.now += 100;
    rate.wrote(100);
    return rate.isBurst();
  });
  expect(bursts).toEqual([...Array<boolean>(20).fill(true), ...Array<boolean>(30).fill(false)]);
  clock.now += 250;
  rate.wrote(100);
  expect(rate.isBurst()).toBe(true);
});
