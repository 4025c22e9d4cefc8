// An echo over UDP by Node: `node node.js client|server ADDRESS`. The client sends three times, five seconds apart.
const socket = require("dgram").createSocket("udp6");
const [, , role, address] = process.argv;
if (role === "server") {
    socket.on("message", (data, from) => socket.send("re: " + data, from.port, from.address));
    socket.bind(9999, address);
} else {
    let answers = 0;
    socket.on("message", (data) => {
        console.log(Date.now(), performance.now(), data.toString());
        if (++answers === 3) process.exit(0);
    });
    const send = () => socket.send(require("crypto").randomBytes(4).toString("hex"), 9999, address);
    send();
    setInterval(send, 5000);
}
