/** A test for names by a glob, in which `*` is any text and `?` any one character. */
export function globTest(glob: string): (name: string) => boolean {
  const pattern = glob.replace(/[.*+?^${}()|[\]\\]/g, (sign) =>
    sign === '*' ? '.*' : sign === '?' ? '.' : `\\${sign}`,
  )
  const whole = new RegExp(`^${pattern}$`, 's')
  return (name) => whole.test(name)
}
