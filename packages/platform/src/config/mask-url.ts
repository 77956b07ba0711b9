/** A URL with its password replaced by `***`; other text unchanged. */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password === "") return text;
  url.password = "***";
  return url.href;
}
