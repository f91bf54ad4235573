/** Printed by `--version`; a test holds it against package.json. */
export const version = '0.2.0'
