/** Maximum turn of the normal of a lasting contact per frame: 30 degrees in rad. */
export const maxNormalTurn = Math.PI / 6
