// A client and a server of pion/dtls: `pion client|server ADDRESS`. The client sends a line and waits for its answer.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/pion/dtls/v2"
)

func main() {
	address, err := net.ResolveUDPAddr("udp", net.JoinHostPort(os.Args[2], "5684"))
	check(err)
	config := &dtls.Config{
		PSK:             func([]byte) ([]byte, error) { return []byte("secretPSK"), nil },
		PSKIdentityHint: []byte("user"),
		CipherSuites:    []dtls.CipherSuiteID{dtls.TLS_PSK_WITH_AES_128_CCM_8},
		ConnectContextMaker: func() (context.Context, func()) {
			return context.WithTimeout(context.Background(), time.Minute)
		},
	}
	if os.Args[1] == "server" {
		listener, err := dtls.Listen("udp", address, config)
		check(err)
		connection, err := listener.Accept()
		check(err)
		fmt.Println(read(connection))
		write(connection, "pong")
		return
	}
	began := time.Now()
	connection, err := dtls.Dial("udp", address, config)
	check(err)
	write(connection, "ping")
	fmt.Println(read(connection), time.Since(began))
}

func read(connection net.Conn) string {
	buffer := make([]byte, 100)
	length, err := connection.Read(buffer)
	check(err)
	return string(buffer[:length])
}

func write(connection net.Conn, text string) {
	_, err := connection.Write([]byte(text))
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
