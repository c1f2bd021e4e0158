/** Makes an authority, `ca.pem`, and a broker's certificate for `localhost` that it signed, `broker.pem`. */
export function makeCertificates(directory: string): void {
  const openssl = (line: string) => runIn(directory, "openssl", ...line.split(" "));
  openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Authority -keyout ca.key -out ca.pem");
  openssl(
    "req -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout broker.key -out broker.csr",
  );
  openssl("x509 -req -in broker.csr -CA ca.pem -CAkey ca.key -days 2 -copy_extensions copy -out broker.pem");
}

/** Runs a program to its end, which must be a good one. */
export function runIn(directory: string, ...command: string[]): void {
  const ended = Bun.spawnSync(command, { cwd: directory, stdout: "ignore", stderr: "pipe" });
  if (ended.exitCode !== 0) throw new Error(ended.stderr.toString());
}
