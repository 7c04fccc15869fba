/** Something that is not as it must be. */
export interface Fault {
  readonly kind:
    | 'log_missing'
    | 'header_digest'
    | 'record_digest'
    | 'words_missing'
    | 'chain'
    | 'sequence'
    | 'tree'
    | 'reference'
    | 'rows'
    | 'attachment'
    | 'store';
  /** Where: conversation, version and record, or row. */
  readonly place: string;
  readonly reason: string;
  /** What a reader loses by it. */
  readonly affects: string;
}
