export const callbackPath = '/oauth/callback'

/** The page loads nothing, and its URL, which contains a code, is not sent as a referrer. */
export const callbackHeaders = {
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

export function renderCallbackPage(title: string, text: string): string {
  const [safeTitle, safeText] = [title, text].map(escapeHtml)
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${safeTitle}</title></head>
<body><h1>${safeTitle}</h1><p>${safeText}</p></body>
</html>
`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
