/** A number of a block; NaN beyond its end, as for what was never recorded. */
export const num = (block: Float64Array, index: number): number => block[index] ?? Number.NaN
