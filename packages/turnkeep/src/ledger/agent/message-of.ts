const MAX_LENGTH = 4096;

/** The words of whatever was thrown, for a record, cut to what a person reads. */
export function messageOf(thrown: unknown): string {
  const words = wordsOf(thrown);
  return words.length > MAX_LENGTH ? `${words.slice(0, MAX_LENGTH)} …` : words;
}

function wordsOf(thrown: unknown): string {
  try {
    const message: unknown = thrown instanceof Error ? thrown.message : thrown;
    return String(message);
  } catch {
    return 'something was thrown that has no words';
  }
}

/** What was thrown, or an error in its place where it cannot even be asked what it is: a proxy may throw at that. */
export function lookedAt(thrown: unknown): unknown {
  try {
    void (thrown instanceof Error);
    return thrown;
  } catch {
    return new Error('something was thrown that throws when it is looked at');
  }
}
