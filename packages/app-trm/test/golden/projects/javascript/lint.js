var unused = 1
if (missing == 2) {
  console.log('x')
}
