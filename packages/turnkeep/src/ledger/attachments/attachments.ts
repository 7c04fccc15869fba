import { attachmentOf, DIGEST } from '../../core/attachments/rows.ts';
import { TurnkeepError } from '../../core/errors.ts';
import type { NamespaceId } from '../../core/ids.ts';
import type { Access } from '../access.ts';
import { AttachmentContent, sealedAttachment } from './content.ts';
import type { GetOptions } from './content.ts';
import type { AttachmentSource } from './parts.ts';
import { upload } from './upload.ts';
import type { AttachmentInfo, PutOptions } from './upload.ts';
import { abortSignal, anything, assertChecked } from '../given.ts';
import type { Checks } from '../given.ts';

// A limit and a range are checked elsewhere, with their own errors.
const PUT: Checks<PutOptions> = { maxBytes: anything, signal: abortSignal };
const GET: Checks<GetOptions> = { range: anything, signal: abortSignal };

/**
 * The files of one namespace: immutable bytes, found by their digest. A message refers to one by a file part
 * (`{ type: 'file', mediaType, name?, source: { attachment: digest } }`), which says what it is and what it is called.
 *
 * Bytes that nothing refers to yet are held for a day (see `Namespace.collect`); once a commit refers to them, they stay as
 * long as any words do.
 */
export class Attachments {
  readonly #access: Access;
  readonly #namespace: NamespaceId;

  constructor(access: Access, namespace: NamespaceId) {
    this.#access = access;
    this.#namespace = namespace;
  }

  /**
   * Stores bytes; they are durable when it returns. The same bytes are stored once; putting them again holds them for another
   * day. Throws `limit_exceeded` past the limit of an attachment or the namespace's quota, and whatever the source throws.
   */
  async put(source: AttachmentSource, options: PutOptions = {}): Promise<AttachmentInfo> {
    assertChecked(options, PUT);
    return upload(this.#access, this.#namespace, source, options);
  }

  /** The bytes, or a range of them, read as they are asked for; `attachment_missing` if there are none. */
  async get(digest: string, options: GetOptions = {}): Promise<AttachmentContent> {
    assertDigest(digest);
    assertChecked(options, GET);
    const sealed = await sealedAttachment(this.#access, this.#namespace, digest);
    if (!sealed) throw new TurnkeepError('attachment_missing', { digest });
    return new AttachmentContent(this.#access, this.#namespace, sealed, options);
  }

  /** Its size; `undefined` if there is no such attachment. */
  async stat(digest: string): Promise<AttachmentInfo | undefined> {
    assertDigest(digest);
    const row = await this.#access.read(this.#namespace, (rows) => attachmentOf(rows, digest));
    return row && { digest, sizeBytes: row.sizeBytes };
  }
}

function assertDigest(digest: string): void {
  if (typeof digest === 'string' && DIGEST.test(digest)) return;
  const reason = 'an attachment is named by the SHA-256 of its bytes, 64 hexadecimal digits';
  throw new TurnkeepError('invalid_value', { path: 'digest', reason });
}
