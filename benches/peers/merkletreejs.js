// A root by merkletreejs: prints the root and the milliseconds. Arguments: where the package is, and how many leaves.
const { createHash } = require("node:crypto");
const [folder, leaves] = process.argv.slice(2);
const { MerkleTree } = require(`${folder}/node_modules/merkletreejs`);

const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
const contents = Array.from({ length: Number(leaves) }, (_, number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return sha256(bytes);
});
const begun = process.hrtime.bigint();
const root = new MerkleTree(contents, sha256, { duplicateOdd: true }).getRoot();
const took = process.hrtime.bigint() - begun;
console.log(root.toString("hex"), Number(took) / 1e6);
