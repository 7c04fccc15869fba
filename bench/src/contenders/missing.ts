/** Why a module cannot be loaded here, in one line; `undefined` where it can. */
export async function whyNotLoaded(load: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await load();
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_DLOPEN_FAILED')
      return 'its native module was built for another Node.js';
    return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? 'it does not load';
  }
}
