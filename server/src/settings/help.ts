/** Settings of Help. */
export const helpSettings = {}
