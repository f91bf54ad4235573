/** Maximum turn of a contact normal per frame: 30 degrees in rad. */
export const maxNormalTurn = Math.PI / 6
