/** Whether a text is an address with http(s), the only ones to which requests are sent. */
export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}
