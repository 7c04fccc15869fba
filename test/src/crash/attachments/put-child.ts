import { openLedger } from 'turnkeep';

/** Puts files until it is killed; says each chunk that it gives, and each file when it was told that it is durable. */
const [url = ''] = process.argv.slice(2);
const ledger = await openLedger(url);
const { attachments } = ledger.namespace('crash');

function* chunksOf(number: number): Generator<Uint8Array> {
  for (let at = 0; at < 12; at++) {
    process.stdout.write(`gives ${number} ${at}\n`);
    yield Buffer.alloc(100_000, `${number} ${at} `);
  }
}

for (let number = 0; ; number++) {
  const { digest } = await attachments.put(chunksOf(number));
  process.stdout.write(`put ${digest}\n`);
}
