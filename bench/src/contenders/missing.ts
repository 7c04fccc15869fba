/** Why a module cannot be loaded here, in one line; `undefined` where it can. */
export async function whyNotLoaded(load: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await load();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? 'it does not load';
  }
}
