/** Most that the normal of a lasting contact turns from a frame to the next, rad: 30 degrees. */
export const turnLimit = Math.PI / 6
