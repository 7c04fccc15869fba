import * as crypto from 'node:crypto';
import type { Sha256 } from '../core/digest.ts';

/** SHA-256 in base64url; the one-shot call of Node 20.12 and later takes half the time of a hash object. */
export const sha256: Sha256 = (text: string): string => crypto.hash('sha256', text, 'base64url');
