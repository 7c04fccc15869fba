import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import type { AttachmentContent } from '../../ledger/attachments/content.ts';
import { EXIT } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { FileFailure, usageError } from '../failure.ts';
import { readStore, writeStore } from '../shell.ts';
import type { CommonOptions, Shell } from '../shell.ts';
import { counted, safeLine } from '../terminal-text.ts';

export interface AttachmentGetOptions extends CommonOptions {
  readonly output?: string | undefined;
}

/** `turnkeep attachment put`: keeps the bytes of a file, or of standard input, and says by which digest. */
export async function runAttachmentPut(shell: Shell, file: string, options: CommonOptions): Promise<ExitCode> {
  const { signal } = shell;
  // Before a store is made.
  if (file !== '-') await orFailure(file, stat(file));
  const bytes = file === '-' ? shell.input() : bytesOf(file);
  const info = await writeStore(shell, options, (namespace) => namespace.attachments.put(bytes, { signal }));
  if (options.json) await shell.out.json(info);
  else await shell.out.line(`${info.digest}  ${counted(info.sizeBytes, 'byte')}`);
  return EXIT.ok;
}

/** The bytes of a file, to its end whatever its size says: it may be a pipe. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Uint8Array; // no encoding was asked for
  } catch (error) {
    throw new FileFailure(path, error);
  }
}

/** `turnkeep attachment get`: writes the bytes of an attachment to standard output, or to a new file. */
export async function runAttachmentGet(shell: Shell, digest: string, options: AttachmentGetOptions): Promise<ExitCode> {
  const { output } = options;
  if (output === undefined && options.json)
    throw usageError('--json', 'bytes are not JSON: name a file with --output FILE');
  if (output === undefined && shell.out.columns !== undefined)
    throw usageError('--output', 'a terminal might obey what bytes say: name a file, or redirect');
  const content = await readStore(shell, options, async (namespace) => {
    const found = await namespace.attachments.get(digest, { signal: shell.signal });
    if (output === undefined) for await (const part of found) await shell.out.bytes(part);
    else await writeNewFile(output, found);
    return found;
  });
  if (output === undefined) return EXIT.ok;
  const { sizeBytes } = content;
  if (options.json) await shell.out.json({ digest, sizeBytes, output });
  else
    await shell.out.line(`${shell.out.colors.green('✓ written')} ${safeLine(output)}, ${counted(sizeBytes, 'byte')}`);
  return EXIT.ok;
}

/** Writes a new file, for its user alone; where that fails halfway none is left. */
async function writeNewFile(path: string, content: AttachmentContent): Promise<void> {
  const file = await orFailure(path, open(path, 'wx', 0o600));
  try {
    for await (const part of content) await orFailure(path, file.writeFile(part));
    await orFailure(path, file.sync());
    await orFailure(path, file.close());
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path, { force: true });
    throw error;
  }
}

async function orFailure<Result>(path: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new FileFailure(path, error);
  }
}
