/** The bytes of a file within its URL: `data:<media type>;base64,<data>`. */
export interface DataUrl {
  readonly mediaType: string;
  /** Base64, as it came. */
  readonly data: string;
}

const DATA_URL = /^data:([^;,]*);base64,([^]*)$/;

export function parseDataUrl(url: string): DataUrl | undefined {
  const found = DATA_URL.exec(url);
  return found ? { mediaType: found[1] as string, data: found[2] as string } : undefined;
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** The media type of what a URL holds, where it says so. */
export function mediaTypeOf(url: string, otherwise: string): string {
  const found = parseDataUrl(url);
  return found && found.mediaType !== '' ? found.mediaType : otherwise;
}
