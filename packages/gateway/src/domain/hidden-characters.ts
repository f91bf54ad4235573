/**
 * Characters that are invisible or change how others are displayed: controls except tab and line ends, soft
 * hyphens, zero-width characters, bidirectional controls, fillers, tag characters, and variation selectors in
 * sequences. Joiners are allowed within emoji and in scripts other than Latin.
 */
const hiddenPattern = new RegExp(
  [
    String.raw`[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\xad]`,
    String.raw`[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]`,
    String.raw`\u034f|[\u115f\u1160\u180e\u3164\uffa0]|[\u{e0000}-\u{e01ef}]`,
    String.raw`(?<!\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier}|(?!\p{Script=Latin})[\p{L}\p{M}])[\u200c\u200d]`,
    String.raw`[\ufe00-\ufe0f](?=[\ufe00-\ufe0f])`,
  ].join('|'),
  'gu',
)

const maxListedCharacters = 5

/** Returns up to five distinct characters, such as `U+202E`. */
export function findHiddenCharacters(text: string): readonly string[] {
  const characters = new Set(
    [...text.matchAll(hiddenPattern)].map(([character]) => `U+${toHex(character).padStart(4, '0')}`),
  )
  return [...characters].slice(0, maxListedCharacters)
}

/** Escapes hidden characters as `\u{202E}`, so that a terminal does not interpret them. */
export const escapeHiddenCharacters = (text: string): string =>
  text.replaceAll(hiddenPattern, (character) => `\\u{${toHex(character)}}`)

const toHex = (character: string): string => (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
