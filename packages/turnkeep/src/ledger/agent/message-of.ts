const MAX_LENGTH = 4096;

/** What was thrown says, for a record: whatever it is, and no more of it than a person reads. */
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
