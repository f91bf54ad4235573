/** Settings of Trm. */
export const trmSettings = {}
