/** The version of this package, as `--version` prints it; a test holds it against package.json. */
export const version = '0.2.0'
