import type { Sha256 } from '../core/digest.ts';
import type { Driver } from './driver/driver.ts';
import type { Schema } from './schema/schema-name.ts';

/** What every part of the backend works with. */
export interface Store {
  readonly driver: Driver;
  /** True where the driver is closed with the store. */
  readonly ownsDriver: boolean;
  readonly schema: Schema;
  readonly sha256: Sha256;
  /** For a person: which database and schema. */
  readonly place: string;
}
