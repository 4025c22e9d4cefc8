import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.eclipse.californium.core.CoapClient;
import org.eclipse.californium.core.CoapResource;
import org.eclipse.californium.core.CoapResponse;
import org.eclipse.californium.core.CoapServer;
import org.eclipse.californium.core.config.CoapConfig;
import org.eclipse.californium.core.network.CoapEndpoint;
import org.eclipse.californium.core.server.resources.CoapExchange;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.scandium.DTLSConnector;
import org.eclipse.californium.scandium.config.DtlsConfig;
import org.eclipse.californium.scandium.config.DtlsConfig.DtlsRole;
import org.eclipse.californium.scandium.config.DtlsConnectorConfig;
import org.eclipse.californium.scandium.dtls.cipher.CipherSuite;
import org.eclipse.californium.scandium.dtls.pskstore.AdvancedSinglePskStore;

/** A client and a server of Californium over DTLS: `Peer client|server ADDRESS`. The client gets /time. */
public class Peer {
    public static void main(String[] arguments) throws Exception {
        CoapConfig.register();
        DtlsConfig.register();
        boolean isServer = arguments[0].equals("server");
        String address = arguments[1];
        Configuration configuration = new Configuration();
        CoapEndpoint endpoint = endpoint(configuration, isServer, address);
        if (isServer) {
            serve(configuration, endpoint);
            return;
        }
        CoapClient client = new CoapClient("coaps://[" + address + "]/time");
        client.setEndpoint(endpoint);
        client.setTimeout(60_000L);
        long began = System.nanoTime();
        CoapResponse response = client.get();
        System.out.println((response == null ? "no answer" : response.getResponseText()) + " " + (System.nanoTime() - began));
        System.exit(response == null ? 1 : 0);
    }

    private static CoapEndpoint endpoint(Configuration configuration, boolean isServer, String address) {
        configuration.set(DtlsConfig.DTLS_ROLE, isServer ? DtlsRole.SERVER_ONLY : DtlsRole.CLIENT_ONLY);
        DtlsConnectorConfig.Builder builder = DtlsConnectorConfig.builder(configuration);
        builder.set(DtlsConfig.DTLS_CIPHER_SUITES, List.of(CipherSuite.TLS_PSK_WITH_AES_128_CCM_8));
        builder.setAdvancedPskStore(new AdvancedSinglePskStore("user", "secretPSK".getBytes(StandardCharsets.US_ASCII)));
        builder.setAddress(isServer ? new InetSocketAddress(address, 5684) : new InetSocketAddress("::", 0));
        return new CoapEndpoint.Builder().setConfiguration(configuration).setConnector(new DTLSConnector(builder.build())).build();
    }

    private static void serve(Configuration configuration, CoapEndpoint endpoint) {
        CoapServer server = new CoapServer(configuration);
        server.addEndpoint(endpoint);
        server.add(new CoapResource("time") {
            @Override
            public void handleGET(CoapExchange exchange) {
                exchange.respond("pong");
            }
        });
        server.start();
    }
}
