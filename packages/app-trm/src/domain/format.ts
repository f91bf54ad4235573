export const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** Formats `file:line` without unknown parts. */
export const formatLocation = ({
  file,
  line,
}: {
  readonly file?: string | undefined
  line?: number | undefined
}) => [file, ...(file === undefined ? [] : [line])].filter((part) => part !== undefined).join(':')

export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`

export const escapePattern = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&')
