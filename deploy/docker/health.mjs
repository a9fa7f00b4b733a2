// Exits with 0 while the server of this container is up: images have no curl.
const answer = await fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/api/health`)
if (!answer.ok) process.exitCode = 1
