import com.sun.tools.attach.VirtualMachine;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Prints attributes of an MBean of a running JVM, one a line: Metrics PID BEAN ATTRIBUTE... */
public class Metrics {
  public static void main(String[] a) throws Exception {
    VirtualMachine vm = VirtualMachine.attach(a[0]);
    try (JMXConnector c = JMXConnectorFactory.connect(new JMXServiceURL(vm.startLocalManagementAgent()))) {
      MBeanServerConnection beans = c.getMBeanServerConnection();
      for (int i = 2; i < a.length; i++)
        System.out.println(beans.getAttribute(new ObjectName(a[1]), a[i]));
    } finally {
      vm.detach();
    }
  }
}
