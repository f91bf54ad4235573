/** Settings of Minds. */
export const mindsSettings = {}
