/** Shows the password that the first start made up for root. */
export const showPassword = (password: string): void => {
  process.stdout.write(`
The password of root is ${password}
It is shown this once; keep it, or set VMHOST_ROOT_PASSWORD before a start.
`)
}
