export default [{ rules: { 'no-unused-vars': 'error', 'no-undef': 'error', eqeqeq: 'warn' } }]
