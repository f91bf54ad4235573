/** English words that say nothing about what a text is about. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be because been before being between both but by can could did do does
  doing down during each few for from further get had has have having he her here him his how i if in into is it its
  itself just let like make may me might more most must my no nor not now of off on once one only or other our out over
  own same shall she should so some such than that the their them then there these they this those through to too under
  until up us use used using very want was way we were what when where which while who whom why will with within without
  would you your`.split(/\s+/),
)
