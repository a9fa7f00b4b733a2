import process from 'node:process'

const wanted = 26
// The first import of a program, and plain: an older Node has to be able to load it before it meets what it does not know.
if (Number(process.versions.node.split('.')[0]) < wanted) {
  process.stderr.write(
    `Keyward needs Node ${wanted} or newer, and this is Node ${process.versions.node}. With Node 20.19 or newer, "npm start" installs and uses it.\n`,
  )
  process.exit(1)
}
